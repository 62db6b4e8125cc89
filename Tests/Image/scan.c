// Tries to connect to every TCP port of an address; prints those that answer. Usage: scan ADDRESS
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  if (count != 2 || inet_pton(AF_INET, arguments[1], &address.sin_addr) != 1) return 64;
  for (int port = 1; port < 65536; port++) {
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connection < 0) return 71;
    address.sin_port = htons(port);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) {
      // A socket whose own port happens to be the one that is tried meets itself.
      struct sockaddr_in own;
      socklen_t length = sizeof own;
      getsockname(connection, (struct sockaddr *)&own, &length);
      if (own.sin_port != address.sin_port) printf("%d\n", port);
    }
    close(connection);
  }
  return 0;
}
