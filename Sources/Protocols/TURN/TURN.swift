// TURN
