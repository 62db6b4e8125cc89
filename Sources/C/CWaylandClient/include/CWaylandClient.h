// libwayland's client side, and the requests of parlor_video_v1 (Sources/Stage/Wayland/parlor-video-v1.xml).
#pragma once
#include <stdint.h>
#include <wayland-client.h>

struct parlor_video_manager;
struct parlor_video_surface;

// Interfaces for `wl_registry_bind`, by their addresses, which libwayland keeps: Swift sees a constant's value, and would pass a copy's.
const struct wl_interface *compositor_interface(void);
const struct wl_interface *subcompositor_interface(void);
const struct wl_interface *shared_memory_interface(void);
/// parlor_video_v1's manager.
const struct wl_interface *video_manager_interface(void);

struct parlor_video_surface *parlor_video_manager_get_surface(struct parlor_video_manager *manager, struct wl_surface *surface);
void parlor_video_surface_destroy(struct parlor_video_surface *surface);
void parlor_video_surface_clear(struct parlor_video_surface *surface);
void parlor_video_surface_set_canvas(struct parlor_video_surface *surface, uint32_t color);

/// The arguments of `place`, as the protocol's description has them.
struct parlor_video_place {
  uint32_t video;
  double width, height;
  float map[6];
  uint32_t fit;
  float position[2];
  double radii[4];
  float opacity;
  double clip[4];
  uint32_t background;
};
void parlor_video_surface_place(struct parlor_video_surface *surface, const struct parlor_video_place *place);

/// A file in memory of `size` bytes, mapped to `*memory`; its descriptor, or -1 with errno.
int shared_memory_create(size_t size, void **memory);
