/** Requests that are repeated without an end, and the JSON requests that set an attack up. */
import type { AttackTarget } from './attack.ts'
import { ask, type Call } from './call.ts'

export const JSON_TYPE = { 'content-type': 'application/json' }

/** Asks again and again from so many lanes; counts what was answered. */
export async function repeatFrom(
  lanes: number,
  signal: AbortSignal,
  once: (lane: number, n: number) => Promise<{ readonly status: number }>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let n = 0
  const lane = async (at: number): Promise<void> => {
    while (!signal.aborted) {
      const outcome = await once(at, n++).then(
        ({ status }) => `answered ${status}`,
        () => 'failed',
      )
      if (signal.aborted) return
      counts[outcome] = (counts[outcome] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, at) => lane(at)))
  return counts
}

/** The data listener of one of the nodes, in turns. */
export const nodeOf = ({ nodes }: AttackTarget, n: number): string => nodes[n % nodes.length]?.dataUrl ?? ''

/** A request with a JSON body; any status resolves. */
export function askJson(
  url: string,
  asked: { readonly method: Call['method']; readonly token: string; readonly body: object },
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${asked.token}` }
  return ask(url, { method: asked.method, headers, body: Buffer.from(JSON.stringify(asked.body)) })
}

/** Throws when it was not answered with success. */
export async function mustSucceed(
  url: string,
  asked: { readonly method: Call['method']; readonly token: string; readonly body: object },
): Promise<void> {
  const { status, bytes } = await askJson(url, asked)
  if (status >= 300) throw new Error(`${asked.method} ${url} gave ${status}: ${bytes.toString()}`)
}
