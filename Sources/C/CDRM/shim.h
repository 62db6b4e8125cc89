#pragma once
#include <fcntl.h>
#include <sys/ioctl.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

// What libdrm offers as macros that Swift cannot see.
static inline int drm_create_dumb(int fd, struct drm_mode_create_dumb *request) { return drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, request); }
static inline int drm_map_dumb(int fd, struct drm_mode_map_dumb *request) { return drmIoctl(fd, DRM_IOCTL_MODE_MAP_DUMB, request); }
static inline int drm_destroy_dumb(int fd, uint32_t handle) {
  struct drm_mode_destroy_dumb request = {.handle = handle};
  return drmIoctl(fd, DRM_IOCTL_MODE_DESTROY_DUMB, &request);
}
static inline int drm_close_handle(int fd, uint32_t handle) {
  struct drm_gem_close request = {.handle = handle};
  return drmIoctl(fd, DRM_IOCTL_GEM_CLOSE, &request);
}
