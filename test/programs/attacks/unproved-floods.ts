/**
 * Clients without any credential: bodies that hold memory, JSON that holds the event loop, documents, and guesses at a key. (D3, D4, D5)
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Attack, Victim } from './attack.ts'
import { ask, BareSocket, headOf } from './call.ts'
import { JSON_TYPE, nodeOf, repeatFrom } from './repeat.ts'
import { puts } from './victims.ts'

const TOKEN_PATH = '/api/v1/auth/token'
const HELD_BYTES = 1_048_576
const SENT_BYTES = HELD_BYTES - 100
const CONNECTIONS_PER_NODE = 100
const NAMES = 90_000

export const heldBodies: Attack = {
  id: 'D3',
  title: `${CONNECTIONS_PER_NODE} credentials of 1 MiB to each node, never finished`,
  victim: puts(100_000),
  async run({ nodes }, signal) {
    const head = headOf('POST', TOKEN_PATH, { ...JSON_TYPE, 'content-length': `${HELD_BYTES}` })
    const sockets = nodes.flatMap(({ dataUrl }) =>
      Array.from({ length: CONNECTIONS_PER_NODE }, () => new BareSocket(dataUrl, head)),
    )
    for (const socket of sockets) socket.send(Buffer.alloc(SENT_BYTES, ' '))
    while (!signal.aborted) await wait(100)
    const refused = sockets.filter(({ status }) => status === 413).length
    const held = sockets.filter(({ status, isOpen }) => status === 0 && isOpen).length
    for (const socket of sockets) socket.destroy()
    return { 'connections refused 413': refused, 'bodies that were waited for': held }
  },
}

export const manyNames: Attack = {
  id: 'D4a',
  title: 'credentials with 90,000 names, from 4 connections',
  victim: puts(100_000),
  run(target, signal) {
    const names = Array.from({ length: NAMES }, (_, n) => `"k${n}":1`)
    const body = Buffer.from(`{${names.join(',')}}`)
    return repeatFrom(4, signal, (lane) =>
      ask(nodeOf(target, lane) + TOKEN_PATH, { method: 'POST', headers: JSON_TYPE, body, signal }),
    )
  },
}

export const manyDocuments: Attack = {
  id: 'D4b',
  title: 'the contract document, from 8 connections',
  victim: puts(100_000),
  run: (target, signal) =>
    repeatFrom(8, signal, (lane) =>
      ask(`${nodeOf(target, lane)}/api/v1/openapi.json`, { method: 'GET', signal }),
    ),
}

const credentials = (accessKeyId: string, secretKey: string): Buffer =>
  Buffer.from(JSON.stringify({ accessKeyId, secretKey }))

/** One exchange of the victim's own key, at the rate at which applications do it. */
const exchanges: Victim = {
  title: 'exchange of the own key every 2 s',
  async request({ acme }, node, { signal }) {
    await wait(2000, undefined, { signal })
    const body = credentials(acme.accessKeyId, acme.secretKey)
    const { status } = await ask(node.dataUrl + TOKEN_PATH, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
      signal,
    })
    if (status !== 200) throw new Error(`the exchange gave ${status}`)
  },
}

export const lockOut: Attack = {
  id: 'D5',
  title: 'wrong secrets for the key of the victim, 3 a second to each node',
  victim: exchanges,
  run: (target, signal) =>
    repeatFrom(target.nodes.length, signal, async (lane) => {
      await wait(333, undefined, { signal })
      const body = credentials(target.acme.accessKeyId, 'wrong')
      return ask(nodeOf(target, lane) + TOKEN_PATH, { method: 'POST', headers: JSON_TYPE, body, signal })
    }),
}
