/**
 * Rows that a download may be reading do not change: checked from one state to the next, only from rows.
 *
 * Owns: the check. Knows nothing of: how apply decides. Rule: rows of the body of a version change only in an entry with a
 * `releaseDue` whose mark has passed the entry that discarded the body, or, of a small one, where it is sealed again.
 */
import assert from 'node:assert/strict'
import type { Row } from '../../src/state-machine/base/view.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type {
  BodyRecord,
  DiscardedBodyRecord,
  PartPageRecord,
} from '../../src/state-machine/bodies/records.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'

type Rows = ReadonlyMap<string, Row>

const BODY_KINDS: ReadonlySet<string> = new Set(['inlineBody', 'manifestPage', 'partPage'])

export interface Transition {
  readonly before: Rows
  /** Keys of rows that differ afterwards. */
  readonly changed: Iterable<string>
  readonly commands: readonly Command[]
}

export function checkKept({ before, changed, commands }: Transition): void {
  const sealedAgain = new Set(commands.flatMap(bodiesOf))
  const touched = [...changed].filter(
    (key) => BODY_KINDS.has(kindOf(key)) && before.has(key) && !sealedAgain.has(key),
  )
  if (touched.length === 0) return
  const discardedAt = readableBodies(before)
  const upTo = Math.max(-1, ...commands.map((command) => (command.type === 'releaseDue' ? command.upTo : -1)))
  for (const key of touched) {
    const at = discardedAt.get(key.split('\u0000')[3] ?? '')
    assert(
      at === undefined || at <= upTo,
      `${kindOf(key)} of a body discarded at ${at} changed before its mark`,
    )
  }
}

/** Rows that hold the same bytes afterwards, under another key that a download finds in the row. */
function bodiesOf(command: Command): readonly string[] {
  if (command.type !== 'resealBodies') return []
  return command.bodies.map(({ bucketId, bodyId }) => bodyKeys.inlineBody(bucketId, bodyId))
}

/** By id of the body: the entry that discarded it; Infinity: a version names it. Parts of uploads are not included. */
function readableBodies(rows: Rows): ReadonlyMap<string, number> {
  const bodies = new Map<string, number>()
  for (const [key, row] of rows) {
    const kind = kindOf(key)
    if (kind === 'object' || kind === 'version') {
      const version = row as VersionRecord
      if (version.kind === 'object') note(bodies, version.versionId, { body: version.body, at: Infinity })
    } else if (kind === 'discarded') {
      const { id, body, discardedAt } = row as DiscardedBodyRecord
      note(bodies, id, { body, at: discardedAt })
    }
  }
  for (const [key, row] of rows) {
    const at = kindOf(key) === 'partPage' ? bodies.get(key.split('\u0000')[3] ?? '') : undefined
    if (at !== undefined) for (const { partId } of (row as PartPageRecord).parts) bodies.set(partId, at)
  }
  return bodies
}

function note(
  bodies: Map<string, number>,
  id: string,
  { body, at }: { readonly body: BodyRecord; readonly at: number },
): void {
  if (body.kind !== 'empty') bodies.set(id, at)
}

/** Keys of rows that differ between both. */
export function changedKeys(before: Rows, after: Rows): readonly string[] {
  return [...before].filter(([key, row]) => after.get(key) !== row).map(([key]) => key)
}
