#include "CGlass.h"

typedef struct {
  GtkWidget parent;
} GlassContainer;

typedef struct {
  GtkWidgetClass parent;
} GlassContainerClass;

G_DEFINE_TYPE(GlassContainer, glass_container, GTK_TYPE_WIDGET)

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                    int *natural_baseline) {
  *minimum = 0;
  *natural = 0;
  *minimum_baseline = -1;
  *natural_baseline = -1;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child; child = gtk_widget_get_next_sibling(child)) {
    int smallest, wanted;
    gtk_widget_measure(child, orientation, for_size, &smallest, &wanted, NULL, NULL);
    *minimum = MAX(*minimum, smallest);
    *natural = MAX(*natural, wanted);
  }
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline) {
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child; child = gtk_widget_get_next_sibling(child)) {
    // A popover places itself.
    if (!GTK_IS_NATIVE(child)) gtk_widget_allocate(child, width, height, baseline, NULL);
  }
}

// Nothing to be seen, but something: without it the window would never get a buffer, and nothing above it would be shown.
static void snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
  gtk_snapshot_append_color(snapshot, &(GdkRGBA){0, 0, 0, 0}, &all);
}

static void dispose(GObject *object) {
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(object)))) gtk_widget_unparent(child);
  G_OBJECT_CLASS(glass_container_parent_class)->dispose(object);
}

static void glass_container_class_init(GlassContainerClass *class) {
  GTK_WIDGET_CLASS(class)->measure = measure;
  GTK_WIDGET_CLASS(class)->size_allocate = size_allocate;
  GTK_WIDGET_CLASS(class)->snapshot = snapshot;
  G_OBJECT_CLASS(class)->dispose = dispose;
}

static void glass_container_init(GlassContainer *container) { gtk_widget_set_overflow(GTK_WIDGET(container), GTK_OVERFLOW_HIDDEN); }

GtkWidget *glass_container_new(void) { return g_object_new(glass_container_get_type(), NULL); }

void glass_container_add(GtkWidget *container, GtkWidget *child) { gtk_widget_insert_after(child, container, NULL); }

void glass_container_raise(GtkWidget *container, GtkWidget *child) { gtk_widget_insert_before(child, container, NULL); }

void glass_container_remove(GtkWidget *container, GtkWidget *child) {
  if (gtk_widget_get_parent(child) == container) gtk_widget_unparent(child);
}
