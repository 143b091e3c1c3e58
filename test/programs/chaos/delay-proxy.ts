/**
 * A proxy in place of another host: it forwards bytes in both directions with a delay.
 *
 * `node delay-proxy.ts FORWARDINGS`, in JSON; it says `listening` when it does, at each of them.
 * Rule: order stays, and so does back-pressure: it holds at most HELD_BYTES_MAX of one direction of a connection.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

const HELD_BYTES_MAX = 1024 * 1024

interface Address {
  readonly host: string
  readonly port: number
}

export interface Forwarding {
  readonly from: Address
  readonly to: Address
  readonly delayMs: number
}

async function forward({ from, to, delayMs }: Forwarding): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...to, allowHalfOpen: true })
    passOn(near, far, delayMs)
    passOn(far, near, delayMs)
  })
  server.listen(from)
  await once(server, 'listening')
}

function passOn(from: Socket, to: Socket, delayMs: number): void {
  let held = 0
  from.on('data', (bytes: Buffer) => {
    held += bytes.length
    if (held >= HELD_BYTES_MAX) from.pause()
    setTimeout(() => {
      to.write(bytes, () => {
        held -= bytes.length
        if (held < HELD_BYTES_MAX) from.resume()
      })
    }, delayMs)
  })
  from.on('end', () => setTimeout(() => to.end(), delayMs))
  // What breaks on one side breaks on the other.
  from.on('error', () => to.destroy())
  from.on('close', (isBroken) => isBroken && to.destroy())
}

for (const forwarding of JSON.parse(process.argv[2] ?? '') as Forwarding[]) await forward(forwarding)
process.stdout.write('listening\n')
