// What has to be C of the glass page: a widget class, and functions that stand in for a library's.
#pragma once
#include <gtk/gtk.h>
#include <stdint.h>

/// A widget whose children fill it, on top of each other, and are not drawn: their pictures go to the screen another way. They get
/// input as any others.
GtkWidget *glass_container_new(void);
/// Adds `child` beneath all others.
void glass_container_add(GtkWidget *container, GtkWidget *child);
/// Puts `child` above all others.
void glass_container_raise(GtkWidget *container, GtkWidget *child);
void glass_container_remove(GtkWidget *container, GtkWidget *child);

/// Part of a picture that changed, in pixels: painted anew, or moved here as it was, by a distance that is not zero.
struct picture_rectangle {
  int x, y, width, height;
  int moved_x, moved_y;
};

/// One update of a view's picture: premultiplied pixels, blue first, valid in the painted rectangles only and during the call only. Rectangles count
/// in their order.
struct picture_update {
  GtkWidget *view;
  const uint8_t *pixels;
  int width, height, stride;
  const struct picture_rectangle *rectangles;
  int count;
};

typedef void (*picture_update_handler)(const struct picture_update *update, void *context);

/// Names who is told of each update that WebKit made to the picture of a view, once all of it is there.
///
/// With hardware acceleration off WebKit paints what its web process drew over the view's picture, a Cairo image surface. Painted over, because it
/// expects an opaque page. So this library takes each updated rectangle out as soon as it is painted and leaves the surface empty: what is
/// painted next is exact, with its transparency. It learns of them by standing in for functions that WebKit calls:
/// `cairo_surface_mark_dirty_rectangle` (a rectangle was painted), `cairo_set_source_surface` with `cairo_fill` (an opaque page is scrolled: the picture
/// is copied to another surface, and back from there to where it belongs) and `gtk_widget_queue_draw` (the update is complete; this is its view).
void picture_updates_set_handler(picture_update_handler handler, void *context);
