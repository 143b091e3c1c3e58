/**
 * `holdfast audit verify`: lets the running node check the chain of the audit log.
 *
 * Owns: how the verdict is printed. Rule: the command fails unless the chain is whole.
 */
import { CommandError, EXIT } from '../base/exit.ts'
import { askLocalNode } from '../base/local-client.ts'

export interface VerifyAuditOptions {
  readonly data: string
  readonly head?: string
  readonly json?: boolean
}

interface Verdict {
  readonly links: number
  readonly rows: number
  readonly first: number
  readonly next: number
  readonly hash: string
  readonly faults: readonly string[]
}

export async function verifyAudit({ data, head, json = false }: VerifyAuditOptions): Promise<number> {
  const verdict = await askLocalNode(
    data,
    'POST',
    '/audit/verify',
    head === undefined ? null : notedHead(head),
  )
  if (verdict === null) {
    throw new CommandError(`No node runs on '${data}'`, {
      code: 'node_stopped',
      hint: 'Start the node, or name the data directory of a running one.',
      exitCode: EXIT.unreachable,
    })
  }
  const { links, rows, first, next, hash, faults } = verdict as Verdict
  const isWhole = faults.length === 0
  if (json) process.stdout.write(`${JSON.stringify({ isWhole, ...(verdict as Verdict) })}\n`)
  else {
    const from = first === 0 ? 'from the beginning' : `from link ${first} on (older links were trimmed)`
    process.stdout.write(
      isWhole
        ? `The audit log is whole ${from}: ${links} links with ${rows} rows.\nhead ${next}:${hash}\n`
        : `The audit log is NOT whole:\n${faults.map((fault) => `  ${fault}\n`).join('')}`,
    )
  }
  return isWhole ? EXIT.done : EXIT.failed
}

function notedHead(text: string): { readonly next: number; readonly hash: string } {
  const [, next, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (next !== undefined && hash !== undefined) return { next: Number(next), hash }
  throw new CommandError(`'${text.slice(0, 100)}' is not a head of an audit log`, {
    code: 'invalid_head',
    hint: 'Give it as verify printed it: a number, a colon and 64 hex digits.',
    exitCode: EXIT.usage,
  })
}
