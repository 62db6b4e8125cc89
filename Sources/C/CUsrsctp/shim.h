#pragma once
#include <usrsctp.h>
