/**
 * Finds ports for a cluster on this machine, and holds them for this process.
 *
 * Rules: it uses ports below the ephemeral range; otherwise an outgoing connection might occupy one. One port of each node is bound until this
 * process ends, so that two clusters that start at the same time, in whichever processes, never get the same ports.
 */
import { createServer, type Server } from 'node:net'

const PORTS_A_NODE = 10
/** Of each node: data, admin and peer listener. */
const PORTS_IN_USE = [0, 1, 2]
/** Nothing else listens there; the process that binds it has the ports of the node. Not the last one: RECEIVER_OFFSET in setup.ts is one. */
const PLACEHOLDER = 8
const ATTEMPTS_MAX = 200

/**
 * A base port in [from, to) whose ports for `nodes` nodes are all free now and are given to no other caller. It is a multiple of ten, so that two nodes
 * share all ports or none.
 */
export async function freeBasePort(
  nodes: number,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const first = Math.ceil(from / PORTS_A_NODE)
  const places = Math.floor(to / PORTS_A_NODE) - first - nodes + 1
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const base = PORTS_A_NODE * (first + Math.floor(Math.random() * places))
    if (await take(Array.from({ length: nodes }, (_, node) => base + PORTS_A_NODE * node))) return base
  }
  throw new Error(`Found no free ports from ${from} to ${to}`)
}

/** Whether all ports of these nodes are free, and now held. */
async function take(bases: readonly number[]): Promise<boolean> {
  const held: Server[] = []
  for (const base of bases) {
    const placeholder = await bound(base + PLACEHOLDER)
    if (placeholder !== null) held.push(placeholder)
    const isFree = placeholder !== null && (await areFree(PORTS_IN_USE.map((port) => base + port)))
    if (isFree) continue
    for (const server of held) server.close()
    return false
  }
  return true
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const servers = await Promise.all(ports.map(bound))
  await Promise.all(
    servers.map((server) => new Promise((resolve) => server?.close(resolve) ?? resolve(null))),
  )
  return servers.every((server) => server !== null)
}

/** A listener that does not keep the process alive; null: the port is taken. */
function bound(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => resolve(server.unref()))
  })
}
