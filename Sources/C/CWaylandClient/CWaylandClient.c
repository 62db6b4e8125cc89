#define _GNU_SOURCE
#include "CWaylandClient.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct wl_interface surface_interface;

static const struct wl_interface *manager_types[] = {&surface_interface, &wl_surface_interface};
static const struct wl_interface *no_types[21];

static const struct wl_message manager_requests[] = {
    {"destroy", "", no_types},
    {"get_video_surface", "no", manager_types},
};
static const struct wl_message surface_requests[] = {
    {"destroy", "", no_types},
    {"clear", "", no_types},
    {"place", "uffuuuuuuuuuffffuu", no_types},
    {"set_canvas", "u", no_types},
    {"clip", "ffff", no_types},
};

static const struct wl_interface manager_interface = {"parlor_video_manager_v1", 1, 2, manager_requests, 0, NULL};
static const struct wl_interface surface_interface = {"parlor_video_surface_v1", 1, 5, surface_requests, 0, NULL};

const struct wl_interface *compositor_interface(void) { return &wl_compositor_interface; }
const struct wl_interface *subcompositor_interface(void) { return &wl_subcompositor_interface; }
const struct wl_interface *shared_memory_interface(void) { return &wl_shm_interface; }
const struct wl_interface *video_manager_interface(void) { return &manager_interface; }

enum { manager_get_surface = 1 };
enum { surface_destroy, surface_clear, surface_place, surface_set_canvas, surface_clip };

static uint32_t bits(float value) {
  uint32_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

struct parlor_video_surface *parlor_video_manager_get_surface(struct parlor_video_manager *manager, struct wl_surface *surface) {
  struct wl_proxy *proxy = (struct wl_proxy *)manager;
  return (struct parlor_video_surface *)wl_proxy_marshal_flags(proxy, manager_get_surface, &surface_interface, wl_proxy_get_version(proxy), 0, NULL, surface);
}

void parlor_video_surface_destroy(struct parlor_video_surface *surface) {
  struct wl_proxy *proxy = (struct wl_proxy *)surface;
  wl_proxy_marshal_flags(proxy, surface_destroy, NULL, wl_proxy_get_version(proxy), WL_MARSHAL_FLAG_DESTROY);
}

void parlor_video_surface_clear(struct parlor_video_surface *surface) {
  struct wl_proxy *proxy = (struct wl_proxy *)surface;
  wl_proxy_marshal_flags(proxy, surface_clear, NULL, wl_proxy_get_version(proxy), 0);
}

void parlor_video_surface_set_canvas(struct parlor_video_surface *surface, uint32_t color) {
  struct wl_proxy *proxy = (struct wl_proxy *)surface;
  wl_proxy_marshal_flags(proxy, surface_set_canvas, NULL, wl_proxy_get_version(proxy), 0, color);
}

void parlor_video_surface_place(struct parlor_video_surface *surface, const struct parlor_video_place *p) {
  struct wl_proxy *proxy = (struct wl_proxy *)surface;
  wl_proxy_marshal_flags(
      proxy, surface_place, NULL, wl_proxy_get_version(proxy), 0, p->video, wl_fixed_from_double(p->width), wl_fixed_from_double(p->height),
      bits(p->map[0]), bits(p->map[1]), bits(p->map[2]), bits(p->map[3]), bits(p->map[4]), bits(p->map[5]), p->fit, bits(p->position[0]),
      bits(p->position[1]), wl_fixed_from_double(p->radii[0]), wl_fixed_from_double(p->radii[1]), wl_fixed_from_double(p->radii[2]),
      wl_fixed_from_double(p->radii[3]), bits(p->opacity), p->background);
  if (p->clip[2] < 0) return;
  wl_proxy_marshal_flags(
      proxy, surface_clip, NULL, wl_proxy_get_version(proxy), 0, wl_fixed_from_double(p->clip[0]), wl_fixed_from_double(p->clip[1]),
      wl_fixed_from_double(p->clip[2]), wl_fixed_from_double(p->clip[3]));
}

int shared_memory_create(size_t size, void **memory) {
  int descriptor = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)size) == 0) {
    *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (*memory != MAP_FAILED) return descriptor;
  }
  close(descriptor);
  return -1;
}
