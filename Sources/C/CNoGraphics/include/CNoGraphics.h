#ifndef C_NO_GRAPHICS_H
#define C_NO_GRAPHICS_H
#endif
