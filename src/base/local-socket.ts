/**
 * Where a node listens for the command line of its own machine.
 */
import { join, relative } from 'node:path'

/** The longest path that the kernel takes for a unix socket. */
const SOCKET_PATH_BYTES_MAX = 107

/** The socket's path as short as it can be written from here; null when even that is too long. */
export function localSocketPath(dataDir: string): string | null {
  const absolute = join(dataDir, 'admin.sock')
  const short = relative(process.cwd(), absolute)
  const best = short.length < absolute.length ? short : absolute
  return Buffer.byteLength(best) <= SOCKET_PATH_BYTES_MAX ? best : null
}
