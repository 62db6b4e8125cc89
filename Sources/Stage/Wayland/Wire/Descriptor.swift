import Glibc

extension Wayland {
  /// A file descriptor that is closed with its last owner.
  package final class Descriptor {
    /// The number that system calls know it by.
    package let number: Int32

    /// Takes `number` over: nobody else may close it.
    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }
  }
}
