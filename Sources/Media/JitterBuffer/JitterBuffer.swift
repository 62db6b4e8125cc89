// JitterBuffer
