// DTLS
