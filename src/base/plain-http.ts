/**
 * Plain HTTP to another machine, over which no secret may be sent.
 */

/** As `URL` writes the host. */
const THIS_MACHINE = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/

export function isPlainHttpElsewhere({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !THIS_MACHINE.test(hostname)
}
