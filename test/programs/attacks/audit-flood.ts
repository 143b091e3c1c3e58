/** Requests without a token and with long paths: what a client without any credential writes into the audit log of every node. [D2] */
import type { Attack } from './attack.ts'
import { ask } from './call.ts'
import { puts } from './victims.ts'

const CONNECTIONS = 16
const PATH_CHARACTERS = 4_000

export const auditFlood: Attack = {
  id: 'D2',
  title: '16 connections without a token, paths of 4,000 characters',
  victim: puts(100),
  run: async (target, signal) => {
    let [sent, refused] = [0, 0]
    const client = async (n: number): Promise<void> => {
      const node = target.nodes[n % target.nodes.length]
      while (!signal.aborted) {
        const path = `${n}-${sent++}`.padEnd(PATH_CHARACTERS, 'x')
        const url = `${node?.dataUrl}/api/v1/buckets/${path}`
        const answer = await ask(url, { method: 'GET', signal }).catch(() => null)
        if (answer !== null && answer.status !== 401) refused++
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => client(n)))
    return { sent, 'answered other than 401': refused }
  },
}
