/**
 * Downloads that are asked for and not read: what a node holds for each, and for how long.
 *
 * The system first takes several MiB of each into the buffers of its connection: the victim is measured while it does, and after that.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Attack, AttackTarget, Counts } from './attack.ts'
import { ask, BareSocket, headOf } from './call.ts'
import { puts } from './victims.ts'

const DOWNLOADS_A_NODE = 200
const OBJECT_BYTES = 16 * 1024 * 1024
const PATH = '/api/v1/buckets/photos/objects/large'

export const slowDownloads: Attack = {
  id: 'slow-downloads',
  title: '200 downloads of 16 MiB at each node, not read',
  victim: puts(100_000),
  leadMs: 20_000,
  run: downloadUnread,
}

export const downloadBurst: Attack = {
  id: 'download-burst',
  title: 'the same from the first second on, while the buffers of the connections fill',
  victim: puts(100_000),
  leadMs: 1000,
  run: downloadUnread,
}

async function downloadUnread(target: AttackTarget, signal: AbortSignal): Promise<Counts> {
  await store(target)
  const authorization = `Bearer ${target.evil.token}`
  const sockets = target.nodes.flatMap(({ dataUrl }) =>
    Array.from({ length: DOWNLOADS_A_NODE }, () => {
      const socket = new BareSocket(dataUrl, headOf('GET', PATH, { authorization }))
      socket.stopReading()
      return socket
    }),
  )
  while (!signal.aborted) await wait(100)
  const open = sockets.filter(({ isOpen }) => isOpen).length
  for (const socket of sockets) socket.destroy()
  return { opened: sockets.length, 'open at the end': open }
}

async function store({ nodes: [node], evil }: AttackTarget): Promise<void> {
  const { status } = await ask(`${node?.dataUrl}${PATH}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${evil.token}` },
    body: randomBytes(OBJECT_BYTES),
  })
  if (status !== 200) throw new Error(`PUT gave ${status}`)
}
