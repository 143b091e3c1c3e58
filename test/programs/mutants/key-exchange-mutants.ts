/**
 * Bugs of the exchange of a data key: what may be changed, when the former key goes, what is read, proved and found.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const EXCHANGE = 'src/state-machine/key-exchange/key-exchange.ts'
const DATA_KEYS = 'src/state-machine/tenants/data-keys.ts'
const RESEALING = 'src/state-machine/chunks/resealing.ts'
const CONTENT = 'src/content/resealing.ts'
const WALK = 'src/store/reads/inline-walk.ts'
const ENTRIES = 'state-machine/key-exchange'
const END = 'state-machine/key-exchange-end'
const SEALING = 'content/resealing'
const API = 'api/key-exchange'

const rows: readonly TestedRow[] = [
  [
    'TK1',
    'what has the new key is sealed again',
    RESEALING,
    ' || keyVersionOf(before) !== former',
    ' || keyVersionOf(before) < former',
    ENTRIES,
  ],
  [
    'TK2',
    'a chunk names fewer new copies than an acknowledgement needs',
    RESEALING,
    'Math.max(1, copiesMin)',
    'Math.min(1, copiesMin)',
    ENTRIES,
  ],
  [
    'TK3',
    'new copies count although the session of their upload is closed, so they may go at any time',
    RESEALING,
    "stateOfBirth(draft, birth) !== 'open'",
    "stateOfBirth(draft, birth) === 'ended'",
    ENTRIES,
  ],
  [
    'TK4',
    'the former key goes while small bodies are sealed with it',
    EXCHANGE,
    'if (left.chunks !== 0 || left.inlineBytes !== 0)',
    'if (left.chunks !== 0)',
    END,
  ],
  [
    'TK5',
    'the former key goes while chunks are sealed with it',
    EXCHANGE,
    'if (left.chunks !== 0 || left.inlineBytes !== 0)',
    'if (left.inlineBytes !== 0)',
    END,
  ],
  ['TK6', 'what a backup has named changes under it', EXCHANGE, '!== Number.POSITIVE_INFINITY', '=== 0', END],
  [
    'TK7',
    'a body is accepted that is sealed with a destroyed key',
    DATA_KEYS,
    '|| version === tenant.formerKey?.version',
    '|| version < dataKeyVersionOf(tenant)',
    ENTRIES,
  ],
  [
    'TK8',
    'an upload that found a chunk is refused because it was sealed again',
    'src/state-machine/chunks/chunks.ts',
    'present.resealedFrom === use.birth',
    'present.resealedFrom === present.birth',
    ENTRIES,
  ],
  [
    'TK9',
    'the copy of a small body says the wrong key',
    'src/state-machine/bodies/bodies.ts',
    '{ chunkId: piece.chunkId, ...row }',
    '{ chunkId: piece.chunkId, sealed: row.sealed }',
    ENTRIES,
  ],
  [
    'TK10',
    'what is removed stays counted as sealed with the present key',
    'src/state-machine/bodies/bodies.ts',
    '{ inlineBytes: -sealedSize, ...keyVersionMember',
    '{ inlineBytes: 0, ...keyVersionMember',
    ENTRIES,
  ],
  [
    'TK11',
    'a rotation of the master key sets back an exchange that began meanwhile',
    'src/state-machine/master-keys/master-keys.ts',
    'return former && isSame(tenant.dataKey, before.dataKey)',
    'return isSame(tenant.dataKey, before.dataKey)',
    END,
  ],
  [
    'TK12',
    'the former key outlives its tenant',
    'src/state-machine/removal/tenant-end.ts',
    '...withoutFormerKey(tenant),',
    '...tenant,',
    END,
  ],
  [
    'TK13',
    'an exchange replaces the former key of one that is unfinished',
    EXCHANGE,
    '  if (formerKey !== undefined) {\n',
    '  if (formerKey !== undefined && formerKey.version === from) {\n',
    ENTRIES,
  ],
  [
    'TK14',
    'a chunk is sealed again without proof that its bytes are those of its id',
    CONTENT,
    'if ((await sealer.nameOf(keys, plain)) !== id)',
    "if ((await sealer.nameOf(keys, plain)) === '')",
    SEALING,
  ],
  [
    'TK15',
    'a small body is sealed again without that proof',
    CONTENT,
    'if (keys.chunkIdOf(plain) !== chunkId)',
    'if (keys.chunkIdOf(plain) === plain.toString())',
    SEALING,
  ],
  [
    'TK16',
    'new copies are not read back',
    CONTENT,
    'for (const copy of blobs.copies(ref)) await checkCopy(copy, ref)',
    'for (const copy of blobs.copies(ref)) if (copy.nodeId === ref.id) await checkCopy(copy, ref)',
    API,
  ],
  [
    'TK17',
    'a download does not open what was sealed again after it began',
    'src/content/object-content.ts',
    'ring.of(version) ?? this.#ringOf(tenant.id)?.of(version)',
    'ring.of(version)',
    API,
  ],
  [
    'TK18',
    'small parts of unfinished uploads are not found, so an exchange never ends',
    WALK,
    "const KINDS = ['object', 'version', 'part', 'uploadPart'] as const",
    "const KINDS = ['object', 'version', 'part'] as const",
    API,
  ],
  [
    'TK19',
    'the master key is rotated without the former key',
    'src/access/sealed-secrets.ts',
    '  if (formerKey === undefined) return keys\n',
    '  if (formerKey === undefined || keys.length > 0) return keys\n',
    'workers/key-keeper',
  ],
  [
    'TK20',
    'the recount does not look at the keys of small bodies',
    'src/state-machine/recount/recount.ts',
    '    this.#keys.takeInline(tenantId, row)\n',
    '    if (row.sealed.length === 0) this.#keys.takeInline(tenantId, row)\n',
    ENTRIES,
  ],
  [
    'TK21',
    'the recount halts the collection because of what a deleted tenant leaves',
    'src/state-machine/recount/key-recount.ts',
    'if (lost > 0 && !isShredded)',
    'if (lost > 0 || isShredded)',
    END,
  ],
]

export const KEY_EXCHANGE_MUTANTS: readonly Mutant[] = killedByTests(rows)
