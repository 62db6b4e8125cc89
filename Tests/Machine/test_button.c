// A GPIO chip with one line that a button hangs on, active high. /sys/module/test_button/parameters/pressed says and sets whether it is pressed,
// `plugged` whether the chip is there.

#include <linux/gpio/driver.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static bool is_pressed, is_plugged;
static struct platform_device *device;
static struct gpio_chip chip;

static int level(struct gpio_chip *chip, unsigned int line) { return READ_ONCE(is_pressed); }
static int direction(struct gpio_chip *chip, unsigned int line) { return GPIO_LINE_DIRECTION_IN; }
static int make_input(struct gpio_chip *chip, unsigned int line) { return 0; }

static void ignore(struct irq_data *data) {}
static int take_any_type(struct irq_data *data, unsigned int type) { return 0; }

static const struct irq_chip interrupts = {
    .name = "test_button",
    .irq_mask = ignore,
    .irq_unmask = ignore,
    .irq_set_type = take_any_type,
    .flags = IRQCHIP_IMMUTABLE,
    GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

static int plug(void) {
  int error;
  chip = (struct gpio_chip){
      .label = "test_button",
      .parent = &device->dev,
      .owner = THIS_MODULE,
      .base = -1,
      .ngpio = 1,
      .get = level,
      .get_direction = direction,
      .direction_input = make_input,
  };
  gpio_irq_chip_set_chip(&chip.irq, &interrupts);
  chip.irq.handler = handle_simple_irq;
  chip.irq.default_type = IRQ_TYPE_NONE;
  error = gpiochip_add_data(&chip, NULL);
  is_plugged = !error;
  return error;
}

static void unplug(void) {
  is_plugged = false;
  gpiochip_remove(&chip);
}

static int set_plugged(const char *text, const struct kernel_param *parameter) {
  bool wanted;
  int error = kstrtobool(text, &wanted);
  if (error || !device || wanted == is_plugged) return error;
  if (wanted) return plug();
  unplug();
  return 0;
}

static int set_pressed(const char *text, const struct kernel_param *parameter) {
  bool before = is_pressed;
  unsigned long flags;
  int error = param_set_bool(text, parameter);
  if (error || before == is_pressed || !is_plugged) return error;
  local_irq_save(flags);
  generic_handle_domain_irq(chip.irq.domain, 0);
  local_irq_restore(flags);
  return 0;
}

static const struct kernel_param_ops pressed = {.set = set_pressed, .get = param_get_bool};
module_param_cb(pressed, &pressed, &is_pressed, 0644);
static const struct kernel_param_ops plugged = {.set = set_plugged, .get = param_get_bool};
module_param_cb(plugged, &plugged, &is_plugged, 0644);

static int __init button_init(void) {
  int error;
  device = platform_device_register_simple("test_button", PLATFORM_DEVID_NONE, NULL, 0);
  if (IS_ERR(device)) return PTR_ERR(device);
  error = plug();
  if (error) platform_device_unregister(device);
  return error;
}

static void __exit button_exit(void) {
  if (is_plugged) unplug();
  platform_device_unregister(device);
}

module_init(button_init);
module_exit(button_exit);
MODULE_LICENSE("GPL");
