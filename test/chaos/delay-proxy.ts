/**
 * A program that stands in for another host: it passes on what it gets, both ways, a while later.
 *
 * `node delay-proxy.ts HOST PORT TARGET-HOST TARGET-PORT MILLISECONDS`; it says `listening` when it does.
 * Rule: order stays, and so does back-pressure: it holds at most HELD_BYTES_MAX of one direction.
 */
import { connect, createServer, type Socket } from 'node:net'

const HELD_BYTES_MAX = 1024 * 1024

const [host = '', port = '', targetHost = '', targetPort = '', delay = ''] = process.argv.slice(2)
const delayMs = Number(delay)

function passOn(from: Socket, to: Socket): void {
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
  from.on('error', () => to.destroy())
  from.on('close', (isBroken) => isBroken && to.destroy())
}

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ host: targetHost, port: Number(targetPort), allowHalfOpen: true })
  passOn(near, far)
  passOn(far, near)
})
server.listen(Number(port), host, () => process.stdout.write('listening\n'))
