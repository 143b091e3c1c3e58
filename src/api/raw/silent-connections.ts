/**
 * The connections of a server that have not asked for anything yet.
 *
 * Owns: which they are. Knows nothing of: when the server closes.
 * Rule: they are known by the other side's address, because TLS puts another socket around each.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { placeOf } from './place-of.ts'

/**
 * Before the server listens. The result destroys them: browsers connect before they have anything to ask, and Node counts such a connection as busy
 * until its headers are overdue. `hasPreamble`: connections have bytes before their first request, of TLS or of a proxy.
 */
export function silentConnections(server: Server, hasPreamble: boolean): () => void {
  const silent = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const place = placeOf(socket)
    silent.set(place, socket)
    socket.once('close', () => silent.delete(place))
  })
  server.on('request', ({ socket }) => {
    if (silent.size > 0) silent.delete(placeOf(socket))
  })
  return () => {
    for (const socket of silent.values()) if (hasPreamble || socket.bytesRead === 0) socket.destroy()
  }
}
