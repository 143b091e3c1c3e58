/**
 * Runs on one host and prints what arrives there, for the test of the wires: `node wire-probe.ts ADDRESS PORT`.
 *
 * Takes lines `send COUNT ADDRESS TEXT` (datagrams) and `echo ADDRESS` (a round trip of a connection); says `ready`, then
 * `got TEXT` for each datagram and `echoed MILLISECONDS`, or `echoed never`.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

const [address = '', portText = ''] = process.argv.slice(2)
const port = Number(portText)
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const datagrams = createSocket('udp4')
datagrams.on('message', (text) => say(`got ${text.toString()}`))
datagrams.bind(port, address)
const connections = createServer((socket) => void socket.pipe(socket).on('error', () => undefined))
connections.listen(port, address)
await Promise.all([once(datagrams, 'listening'), once(connections, 'listening')])
say('ready')

async function echo(target: string): Promise<void> {
  const started = performance.now()
  const socket = connect({ host: target, port })
  try {
    await once(socket, 'connect')
    socket.write('x')
    await once(socket, 'data')
    say(`echoed ${performance.now() - started}`)
  } catch {
    say('echoed never')
  }
  socket.destroy()
}

for await (const line of createInterface(process.stdin)) {
  const [verb, ...words] = line.split(' ')
  if (verb === 'echo') await echo(words[0] ?? '')
  else for (let sent = 0; sent < Number(words[0]); sent += 1) datagrams.send(words[2] ?? '', port, words[1])
}
