// SCTP
