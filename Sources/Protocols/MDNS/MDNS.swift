// MDNS
