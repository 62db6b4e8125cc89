#pragma once
#include <linux/videodev2.h>
#include <libv4lconvert.h>
#include <sys/ioctl.h>
