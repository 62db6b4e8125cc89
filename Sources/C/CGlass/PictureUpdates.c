#define _GNU_SOURCE
#include "CGlass.h"

#include <cairo.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <webkit/webkit.h>

enum { most_rectangles = 256 };

static picture_update_handler update_handler;
static void *update_context;

// The rectangles painted since the last complete update, all of one surface. Only the main thread paints.
static cairo_surface_t *painted_surface;
static struct picture_rectangle painted[most_rectangles];
static int painted_count;

// A scroll that has begun: part of the picture was copied to another surface, `scroll_x` and `scroll_y` from where it was.
static cairo_surface_t *scrolled_surface, *scroll_scratch;
static int scroll_x, scroll_y;

void picture_updates_set_handler(picture_update_handler handler, void *context) {
  update_handler = handler;
  update_context = context;
}

static void forget(void) {
  if (painted_surface) cairo_surface_destroy(painted_surface);
  painted_surface = NULL;
  painted_count = 0;
}

static void note(cairo_surface_t *surface, int x, int y, int width, int height, int moved_x, int moved_y) {
  if (cairo_surface_get_type(surface) != CAIRO_SURFACE_TYPE_IMAGE || cairo_image_surface_get_format(surface) != CAIRO_FORMAT_ARGB32) return;
  int right = MIN(x + width, cairo_image_surface_get_width(surface)), bottom = MIN(y + height, cairo_image_surface_get_height(surface));
  x = MAX(x, 0);
  y = MAX(y, 0);
  if (right <= x || bottom <= y) return;
  if (surface != painted_surface) {
    forget();
    painted_surface = cairo_surface_reference(surface);
  }
  struct picture_rectangle rectangle = {x, y, right - x, bottom - y, moved_x, moved_y};
  if (painted_count < most_rectangles) {
    painted[painted_count++] = rectangle;
    return;
  }
  // More than there is room for: one that holds all. What lies between them is empty, so the handler has to be told of all of it again.
  g_warning("an update of more than %d rectangles", most_rectangles);
}

/// Stands in for Cairo's function of this name.
__attribute__((visibility("default"))) void cairo_surface_mark_dirty_rectangle(cairo_surface_t *surface, int x, int y, int width, int height) {
  static void (*original)(cairo_surface_t *, int, int, int, int);
  if (!original) original = dlsym(RTLD_NEXT, "cairo_surface_mark_dirty_rectangle");
  original(surface, x, y, width, height);
  if (update_handler) note(surface, x, y, width, height, 0, 0);
}

static bool is_picture(cairo_surface_t *surface) {
  return cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE && cairo_image_surface_get_format(surface) == CAIRO_FORMAT_ARGB32;
}

/// Stands in for Cairo's function of this name.
__attribute__((visibility("default"))) void cairo_set_source_surface(cairo_t *context, cairo_surface_t *source, double x, double y) {
  static void (*original)(cairo_t *, cairo_surface_t *, double, double);
  if (!original) original = dlsym(RTLD_NEXT, "cairo_set_source_surface");
  original(context, source, x, y);
  cairo_surface_t *target = cairo_get_target(context);
  if (!update_handler || !is_picture(source) || !is_picture(target)) return;
  // The way back leaves all as it is until it is filled.
  if (source == scroll_scratch && target == scrolled_surface && x == 0 && y == 0) return;
  scrolled_surface = scroll_scratch = NULL;
  bool is_same_size = cairo_image_surface_get_width(source) == cairo_image_surface_get_width(target)
                      && cairo_image_surface_get_height(source) == cairo_image_surface_get_height(target);
  if ((x == 0 && y == 0) || source == target || !is_same_size) return;
  double scale_x, scale_y;
  cairo_surface_get_device_scale(source, &scale_x, &scale_y);
  scrolled_surface = source;
  scroll_scratch = target;
  scroll_x = (int)(x * scale_x);
  scroll_y = (int)(y * scale_y);
}

/// Stands in for Cairo's function of this name.
__attribute__((visibility("default"))) void cairo_fill(cairo_t *context) {
  static void (*original)(cairo_t *);
  if (!original) original = dlsym(RTLD_NEXT, "cairo_fill");
  if (scrolled_surface && cairo_get_target(context) == scrolled_surface) {
    double left, top, right, bottom, scale_x, scale_y;
    cairo_fill_extents(context, &left, &top, &right, &bottom);
    cairo_surface_get_device_scale(scrolled_surface, &scale_x, &scale_y);
    int x = (int)(left * scale_x), y = (int)(top * scale_y);
    note(scrolled_surface, x, y, (int)(right * scale_x) - x, (int)(bottom * scale_y) - y, scroll_x, scroll_y);
    scrolled_surface = scroll_scratch = NULL;
  }
  original(context);
}

/// Stands in for GTK's function of this name.
__attribute__((visibility("default"))) void gtk_widget_queue_draw(GtkWidget *widget) {
  static void (*original)(GtkWidget *);
  if (!original) original = dlsym(RTLD_NEXT, "gtk_widget_queue_draw");
  if (!painted_surface || !WEBKIT_IS_WEB_VIEW(widget)) {
    original(widget);
    return;
  }
  cairo_surface_flush(painted_surface);
  uint8_t *pixels = cairo_image_surface_get_data(painted_surface);
  int stride = cairo_image_surface_get_stride(painted_surface);
  struct picture_update update = {
      .view = widget,
      .pixels = pixels,
      .width = cairo_image_surface_get_width(painted_surface),
      .height = cairo_image_surface_get_height(painted_surface),
      .stride = stride,
      .rectangles = painted,
      .count = painted_count,
  };
  update_handler(&update, update_context);
  for (int i = 0; i < painted_count; i++)
    for (int row = 0; row < painted[i].height; row++)
      memset(pixels + (painted[i].y + row) * stride + painted[i].x * 4, 0, painted[i].width * 4);
  forget();
  // Nothing is drawn by GTK: no frame of its clock is asked for.
}
