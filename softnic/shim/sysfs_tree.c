/* What is in the device's sysfs: a function of a PCI bus with an RDMA device below it, and the
 * class entries as links to that (Linux Documentation/ABI: sysfs-bus-pci,
 * stable/sysfs-class-infiniband). Programs take vendor, device, NUMA node and PCI address from
 * there, and find the function by resolving the links. */
#include "shim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A PCI domain that no machine of today has, so that no function of the machine is hidden. */
#define DOMAIN "5af7"
#define SLOT DOMAIN ":00:00.0"
#define ROOT "devices/pci" DOMAIN ":00"
#define FUNCTION ROOT "/" SLOT
#define IB FUNCTION "/infiniband/" DEVICE_NAME
#define UVERBS FUNCTION "/infiniband_verbs/" UVERBS_NAME
#define DRIVER "bus/pci/drivers/mlx5_core"
#define CM "class/misc/rdma_cm"

const char *const sysfs_parts[] = {
    "class/infiniband", "class/infiniband_verbs", ROOT, "bus/pci/devices/" SLOT, DRIVER, CM, NULL,
};

struct tree {
    sysfs_visit *visit;
    void *to;
};

static void directory(const struct tree *tree, const char *path) {
    tree->visit(tree->to, SYSFS_DIRECTORY, path, NULL);
}

static void file(const struct tree *tree, const char *path, const char *text) {
    tree->visit(tree->to, SYSFS_FILE, path, text);
}

static void link_to(const struct tree *tree, const char *path, const char *target) {
    tree->visit(tree->to, SYSFS_LINK, path, target);
}

static void classes(const struct tree *tree) {
    static const char *const directories[] = {
        "",
        "class",
        "class/infiniband",
        "class/infiniband_verbs",
        "bus",
        "bus/pci",
        "bus/pci/devices",
        "bus/pci/drivers",
        DRIVER,
        "devices",
        ROOT,
        FUNCTION,
        FUNCTION "/infiniband",
        FUNCTION "/infiniband_verbs",
        IB,
        UVERBS,
        IB "/ports",
        "class/misc",
        CM,
    };

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        directory(tree, directories[i]);
    link_to(tree, "class/infiniband/" DEVICE_NAME, "../../" IB);
    link_to(tree, "class/infiniband_verbs/" UVERBS_NAME, "../../" UVERBS);
    link_to(tree, "bus/pci/devices/" SLOT, "../../../" FUNCTION);
    link_to(tree, DRIVER "/" SLOT, "../../../../" FUNCTION);
    link_to(tree, FUNCTION "/driver", "../../../" DRIVER);
    link_to(tree, FUNCTION "/subsystem", "../../../bus/pci");
    link_to(tree, IB "/device", "../../../" SLOT);
    link_to(tree, IB "/subsystem", "../../../../../class/infiniband");
    link_to(tree, UVERBS "/device", "../../../" SLOT);
    link_to(tree, UVERBS "/subsystem", "../../../../../class/infiniband_verbs");
}

/* All processors are as near as any other: there is no card. */
static void processors(const struct tree *tree) {
    long count = sysconf(_SC_NPROCESSORS_CONF);
    char text[512];
    int at = 0;

    if (count < 1 || count > 1024) count = 1;
    snprintf(text, sizeof(text), count > 1 ? "0-%ld" : "0", count - 1);
    file(tree, FUNCTION "/local_cpulist", text);
    for (long word = (count - 1) / 32; word >= 0; word--) {
        long bits = count - 32 * word;

        at += snprintf(text + at, sizeof(text) - (size_t)at, "%08x%s",
                       bits >= 32 ? 0xffffffffu : (1u << bits) - 1, word ? "," : "");
    }
    file(tree, FUNCTION "/local_cpus", text);
}

static void pci_function(const struct tree *tree, const struct personality *p) {
    unsigned part = p ? p->vendor_part_id : 0x1021;
    bool roce = p && p->roce;
    char text[256], modalias[96];

    /* libibverbs chooses the provider by this line. */
    snprintf(modalias, sizeof(modalias), "pci:v000015B3d%08Xsv000015B3sd00000058bc02sc%02Xi00",
             part, roce ? 0 : 7);
    file(tree, FUNCTION "/modalias", modalias);
    file(tree, FUNCTION "/vendor", "0x15b3");
    snprintf(text, sizeof(text), "0x%04x", part);
    file(tree, FUNCTION "/device", text);
    file(tree, FUNCTION "/subsystem_vendor", "0x15b3");
    file(tree, FUNCTION "/subsystem_device", "0x0058");
    file(tree, FUNCTION "/class", roce ? "0x020000" : "0x020700");
    file(tree, FUNCTION "/revision", "0x00");
    file(tree, FUNCTION "/enable", "1");
    file(tree, FUNCTION "/numa_node", "-1");
    file(tree, FUNCTION "/current_link_speed", "32.0 GT/s PCIe");
    file(tree, FUNCTION "/max_link_speed", "32.0 GT/s PCIe");
    file(tree, FUNCTION "/current_link_width", "16");
    file(tree, FUNCTION "/max_link_width", "16");
    snprintf(text, sizeof(text),
             "DRIVER=mlx5_core\nPCI_CLASS=%X\nPCI_ID=15B3:%04X\nPCI_SUBSYS_ID=15B3:0058\n"
             "PCI_SLOT_NAME=" SLOT "\nMODALIAS=%s",
             roce ? 0x20000 : 0x20700, part, modalias);
    file(tree, FUNCTION "/uevent", text);
    processors(tree);
}

/* A file or, with no text, a directory of a port. */
static void of_port(const struct tree *tree, unsigned number, const char *name, const char *text) {
    char path[256];

    snprintf(path, sizeof(path), IB "/ports/%u%s", number, name);
    if (text) file(tree, path, text);
    else directory(tree, path);
}

static void gids(const struct tree *tree, unsigned number, bool roce) {
    /* as sysfs words them; by ib_uverbs_gid_type */
    static const char *const types[] = {"IB/RoCE v1", "IB/RoCE v1", "RoCE v2"};

    for (unsigned i = 0; i < GID_TABLE_SIZE; i++) {
        struct ib_uverbs_gid_entry entry = {.gid_type = IB_UVERBS_GID_TYPE_IB};
        bool there = gid_entry(i, &entry);
        char name[40], text[48];
        int at = 0;

        for (unsigned word = 0; word < 8; word++) {
            const uint8_t *byte = (const uint8_t *)entry.gid + 2 * word;

            at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%02x%02x", word ? ":" : "",
                           byte[0], byte[1]);
        }
        snprintf(name, sizeof(name), "/gids/%u", i);
        of_port(tree, number, name, text);
        if (!there) continue;
        snprintf(name, sizeof(name), "/gid_attrs/types/%u", i);
        of_port(tree, number, name, types[entry.gid_type]);
        /* The network device of a GID: the one that each machine has. InfiniBand GIDs have none. */
        if (!roce) continue;
        snprintf(name, sizeof(name), "/gid_attrs/ndevs/%u", i);
        of_port(tree, number, name, "lo");
    }
}

static void port(const struct tree *tree, unsigned number, const struct personality *p) {
    static const char *const directories[] = {
        "", "/gids", "/gid_attrs", "/gid_attrs/types", "/gid_attrs/ndevs", "/pkeys"};
    bool roce = p && p->roce, down = p && p->down == number;

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        of_port(tree, number, directories[i], NULL);
    of_port(tree, number, "/state", down ? "1: DOWN" : "4: ACTIVE");
    of_port(tree, number, "/phys_state", down ? "3: Disabled" : "5: LinkUp");
    of_port(tree, number, "/rate", "400 Gb/sec (4X NDR)");
    of_port(tree, number, "/lid", roce ? "0x0" : "0x1");
    of_port(tree, number, "/lid_mask_count", "0");
    of_port(tree, number, "/sm_lid", roce ? "0x0" : "0x1");
    of_port(tree, number, "/sm_sl", "0");
    of_port(tree, number, "/cap_mask", "0x00010000");
    of_port(tree, number, "/link_layer", roce ? "Ethernet" : "InfiniBand");
    of_port(tree, number, "/pkeys/0", "0xffff");
    gids(tree, number, roce);
}

void sysfs_tree(sysfs_visit *visit, void *to) {
    const struct tree here = {visit, to}, *tree = &here;
    const struct personality *p = personality();
    char text[96];

    classes(tree);
    pci_function(tree, p);
    /* /dev/zero stands in for the char device: 1:5 is what fstat says of it. */
    file(tree, "class/infiniband_verbs/abi_version", "6");
    file(tree, CM "/abi_version", "4");
    file(tree, UVERBS "/dev", "1:5");
    file(tree, UVERBS "/ibdev", DEVICE_NAME);
    file(tree, UVERBS "/abi_version", "1");
    file(tree, UVERBS "/uevent", "MAJOR=1\nMINOR=5\nDEVNAME=infiniband/" UVERBS_NAME);
    file(tree, IB "/node_type", "1: CA");
    snprintf(text, sizeof(text), "%02x%02x:%02x%02x:%02x%02x:%02x%02x", NODE_GUID[0], NODE_GUID[1],
             NODE_GUID[2], NODE_GUID[3], NODE_GUID[4], NODE_GUID[5], NODE_GUID[6], NODE_GUID[7]);
    file(tree, IB "/node_guid", text);
    file(tree, IB "/sys_image_guid", text);
    file(tree, IB "/node_desc", "mkeyspec software NIC");
    file(tree, IB "/uevent", "NAME=" DEVICE_NAME);
    file(tree, IB "/fw_ver", p ? p->fw_ver : "0.0.0");
    file(tree, IB "/board_id", p ? p->board_id : "none");
    snprintf(text, sizeof(text), "MT%u", p ? p->vendor_part_id : 0);
    file(tree, IB "/hca_type", text);
    file(tree, IB "/hw_rev", "0");
    for (unsigned number = 1; number <= (p ? p->ports : 1u); number++) port(tree, number, p);
}
