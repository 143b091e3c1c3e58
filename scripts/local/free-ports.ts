/**
 * Finds ports for a cluster on this machine.
 *
 * Rule: it uses ports below the ephemeral range; otherwise an outgoing connection might occupy one.
 */
import { createServer } from 'node:net'

const PORTS_A_NODE = 10
const ATTEMPTS_MAX = 200

/** A base port in [from, to) whose ports for `nodes` nodes are all free now. */
export async function freeBasePort(
  nodes: number,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const places = Math.floor((to - from) / PORTS_A_NODE) - nodes
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const base = from + PORTS_A_NODE * Math.floor(Math.random() * places)
    const ports = Array.from({ length: nodes }, (_, i) => [0, 1, 2].map((k) => base + PORTS_A_NODE * i + k))
    if ((await Promise.all(ports.flat().map(isFree))).every(Boolean)) return base
  }
  throw new Error(`Found no free ports from ${from} to ${to}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
