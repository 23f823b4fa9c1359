/* Prints the header of a message of 2 GiB, as a process of a fabric sends it to another
 * (softnic/engine/link.h). */
#include <stdio.h>

#include "engine/link.h"

int main(void) {
    struct frame frame = {
        .magic = MAGIC, .size = sizeof frame, .kind = REQUEST, .serial = 1, .length = PAYLOAD_MOST};
    frame.message.opcode = OPCODE_RDMA_WRITE,
    frame.message.payload_length = frame.message.length = PAYLOAD_MOST;
    return fwrite(&frame, sizeof frame, 1, stdout) != 1;
}
