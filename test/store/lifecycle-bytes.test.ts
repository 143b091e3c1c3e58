/** The bytes of the rows and commands of lifecycle rules, as docs/formats/lifecycle.md shows them: logs and states keep them forever. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { decodeCommand, encodeCommand } from '../../src/commands/command-codec.ts'
import { lifecycleKeys } from '../../src/state-machine/lifecycle/keys.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { decodeRow, encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { setLifecycle } from '../state-machine/lifecycle-samples.ts'

const PAGE = readFileSync(new URL('../../docs/formats/lifecycle.md', import.meta.url), 'utf8')
/** The hexadecimal block that follows the heading. */
const shown = (heading: string): string =>
  new RegExp(`### ${heading}\n[^]*?\`\`\`hex\n([0-9a-f\n]+)\`\`\``).exec(PAGE)?.[1]?.replaceAll('\n', '') ??
  ''

const RULE = {
  id: 'tmp',
  isEnabled: true,
  filter: { prefix: 'tmp/', tags: { a: 'b' }, sizeGreaterThan: 5, sizeLessThan: null },
  expiration: { days: 30 },
  noncurrent: { days: 7, newerKept: 2 },
  abortUploadDays: null,
} as const
const BUCKET = { tenantId: 'acme', bucket: 'photos', bucketId: '0000000000100000' } as const
const TURN_AT = 1_700_006_400_000

const COMMANDS: Readonly<Record<string, Command>> = {
  setBucketLifecycle: setLifecycle(RULE),
  applyLifecycleRule: {
    type: 'applyLifecycleRule',
    ...BUCKET,
    ruleId: 'tmp',
    items: [
      { key: 'tmp/a', versionId: '01HF4X7M0000000000000G0000' },
      { key: 'tmp/b', uploadId: 'mpu_01HF4X7M0000000000000H0000' },
    ],
  },
  endLifecycleWalk: {
    type: 'endLifecycleWalk',
    ...BUCKET,
    turnAt: TURN_AT,
    revision: 9,
    judgedAt: TURN_AT + 1,
  },
}

const ROWS: Readonly<Record<string, readonly [RowKey, object]>> = {
  lifecycle: [lifecycleKeys.lifecycle(BUCKET.bucketId), { rules: [RULE], updatedAt: TURN_AT, revision: 9 }],
  lifecycleWalk: [lifecycleKeys.lifecycleWalk(BUCKET.bucketId), { turnAt: TURN_AT, walkedAt: null }],
  lifecycleTurn: [lifecycleKeys.lifecycleTurn(TURN_AT, BUCKET.bucketId), { ...BUCKET, turnAt: TURN_AT }],
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

t.test('commands have the bytes of the page', async (t) => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    t.equal(hex(encodeCommand(command)), shown(name), name)
    t.strictSame(decodeCommand(Buffer.from(shown(name), 'hex')), command)
  }
})

t.test('rows have the bytes of the page', async (t) => {
  for (const [name, [key, row]] of Object.entries(ROWS)) {
    t.equal(hex(encodeRow(keyBytes(key), row)), shown(name), name)
    t.strictSame(decodeRow(key, Buffer.from(shown(name), 'hex')), row)
  }
})

if (process.argv.includes('--print')) {
  for (const [name, command] of Object.entries(COMMANDS)) t.comment(`${name} ${hex(encodeCommand(command))}`)
  for (const [name, [key, row]] of Object.entries(ROWS))
    t.comment(`${name} ${hex(encodeRow(keyBytes(key), row))}`)
}
