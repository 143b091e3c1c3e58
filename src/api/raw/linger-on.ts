/**
 * The end of a connection whose client may still send.
 */
import type { RawRequest } from './raw-pair.ts'

/**
 * The connection ends with the answer to this request. Node.js would destroy it at once, and the system resets a connection with unread bytes: the client
 * may lose the answer. So only this half is closed, until the body has come. [RFC 9112 9.6]
 */
export function lingerOn(request: Pick<RawRequest, 'socket' | 'once'>): void {
  const { socket } = request
  socket.destroySoon = () => void socket.end()
  request.once('end', () => socket.destroy())
}
