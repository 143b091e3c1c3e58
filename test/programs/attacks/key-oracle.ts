/** Whether a client without any credential learns which access keys exist: an unknown id beside that of another tenant. [D9] */
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Attack, AttackTarget } from './attack.ts'
import { ask } from './call.ts'
import { JSON_TYPE } from './repeat.ts'
import { puts } from './victims.ts'

/** Empties whatever counts wrong ids of one address. */
const WRONG_IDS = 60
const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Asked as often as the id that exists. */
const UNKNOWN_ID = 'AK222222222222222222'
const PAUSE_MS = 200

export const keyOracle: Attack = {
  id: 'D9',
  title: 'an unknown access key id beside one that exists, after 60 wrong ids',
  victim: puts(100_000),
  run: async (target, signal) => {
    const counts = { 'answered differently': 0, 'answered alike': 0 }
    for (let turn = 0; !signal.aborted; turn += 1) {
      const url = target.nodes[turn % target.nodes.length]?.dataUrl ?? ''
      const alike = await looksAlike(target, url, signal).catch(() => null)
      if (alike !== null) counts[alike ? 'answered alike' : 'answered differently'] += 1
      await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    }
    return counts
  },
}

async function looksAlike({ acme }: AttackTarget, url: string, signal: AbortSignal): Promise<boolean> {
  const exchange = async (accessKeyId: string): Promise<string> => {
    const body = Buffer.from(JSON.stringify({ accessKeyId, secretKey: 'wrong' }))
    const call = { method: 'POST' as const, headers: JSON_TYPE, body, signal }
    const { status, bytes } = await ask(`${url}/api/v1/auth/token`, call)
    const { code } = JSON.parse(bytes.toString()) as { readonly code: string }
    return `${status} ${code}`
  }
  await Promise.all(Array.from({ length: WRONG_IDS }, () => exchange(inventedId())))
  return (await exchange(UNKNOWN_ID)) === (await exchange(acme.accessKeyId))
}

/** Looks like an id, and is no key's. */
const inventedId = (): string =>
  `AK${Array.from({ length: 18 }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join('')}`
