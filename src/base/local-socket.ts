/**
 * Where a node listens for the command line of its own machine.
 */
import { join, relative } from 'node:path'

/** The longest path that the kernel accepts for a Unix socket. */
const SOCKET_PATH_BYTES_MAX = 107

/** The shorter of the absolute and the relative path of the socket; null if even that is too long. */
export function localSocketPath(dataDir: string): string | null {
  const absolute = join(dataDir, 'admin.sock')
  const short = relative(process.cwd(), absolute)
  const best = short.length < absolute.length ? short : absolute
  return Buffer.byteLength(best) <= SOCKET_PATH_BYTES_MAX ? best : null
}
