/** Rows of a backup whose secrets are sealed under another master key. [docs/adr/0095-parts-of-backups.md] */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { namedKeyOf } from '../../src/access/master-key-version.ts'
import {
  accessKeySecret,
  auditDataKey,
  auditDedupKey,
  backupTargetSecret,
  hookSecret,
  siteSecret,
  tenantDataKey,
  tenantDedupKey,
  tenantSiteSecret,
} from '../../src/access/sealing-contexts.ts'
import { resealer } from '../../src/backup/reseal/resealed-rows.ts'
import { TargetRefused } from '../../src/backup/targets/target.ts'

const from = MasterKey.of([
  { id: 'mk-new', secret: randomBytes(32) },
  { id: 'mk-old', secret: randomBytes(32) },
])
const to = MasterKey.fromBytes('mk-other', randomBytes(32))

const secret = Buffer.from('a secret')
const sealed = (context: string): Uint8Array => from.seal(secret, context)

/** Each kind of row that holds secrets, with the contexts of its members, by their paths. */
const ROWS: Readonly<Record<string, readonly [row: object, contexts: Readonly<Record<string, string>>]>> = {
  tenant: [
    {
      id: 'acme',
      dataKeyVersion: 3,
      dataKey: sealed(tenantDataKey('acme', 3)),
      dedupKey: sealed(tenantDedupKey('acme')),
      formerKey: { version: 1, dataKey: sealed(tenantDataKey('acme', 1)), operation: 'op' },
      masterKeyId: 'mk-new',
    },
    {
      dataKey: tenantDataKey('acme', 3),
      dedupKey: tenantDedupKey('acme'),
      'formerKey.dataKey': tenantDataKey('acme', 1),
    },
  ],
  accessKey: [
    { accessKeyId: 'AK1', secret: sealed(accessKeySecret('AK1')) },
    { secret: accessKeySecret('AK1') },
  ],
  hook: [{ hookId: 'h', bucketId: 'b', secret: sealed(hookSecret('h')) }, { secret: hookSecret('h') }],
  site: [{ bucketId: 'b', secret: sealed(siteSecret('b')) }, { secret: siteSecret('b') }],
  tenantSite: [
    { tenantId: 'acme', secret: sealed(tenantSiteSecret('acme')) },
    { secret: tenantSiteSecret('acme') },
  ],
  backupTarget: [
    { name: 'nas', place: { kind: 's3', secret: sealed(backupTargetSecret('nas')) } },
    { 'place.secret': backupTargetSecret('nas') },
  ],
  auditKeys: [
    { dataKey: sealed(auditDataKey()), dedupKey: sealed(auditDedupKey()) },
    { dataKey: auditDataKey(), dedupKey: auditDedupKey() },
  ],
}

function at(row: object, path: string): Uint8Array {
  const found = path.split('.').reduce<unknown>((one, name) => (one as Record<string, unknown>)[name], row)
  if (!(found instanceof Uint8Array)) throw new Error(`no bytes at ${path}`)
  return found
}

const made = (kind: string, row: object): object => resealer(kind, { from, to })?.(row) ?? row

t.test('a row that is sealed under another master key', async (t) => {
  for (const [kind, [row, contexts]] of Object.entries(ROWS))
    t.test(`keeps each secret, which the other key alone opens: ${kind}`, async (t) => {
      const after = made(kind, row)
      for (const [path, context] of Object.entries(contexts)) {
        t.equal(namedKeyOf(at(after, path)), 'mk-other')
        t.same(Buffer.from(to.open(at(after, path), context)), secret, path)
        t.throws(() => from.open(at(after, path), context))
      }
    })

  t.test('names the other key where a row names its master key', async (t) => {
    t.same(made('clusterKey', { masterKeyFingerprint: from.fingerprint, holders: { n1: [] } }), {
      masterKeyFingerprint: to.fingerprint,
    })
    t.match(made('tenant', ROWS['tenant']?.[0] ?? {}), { masterKeyId: 'mk-other', formerKey: { version: 1 } })
  })

  t.test('stays without a secret where that was destroyed, and is itself where there is none', async (t) => {
    const shredded = { id: 'acme', dataKey: new Uint8Array(), dedupKey: new Uint8Array() }
    t.match(made('tenant', shredded), { dataKey: { length: 0 }, dedupKey: { length: 0 } })
    const directory = { name: 'nas', place: { kind: 'directory', folder: 'weekly' } }
    t.equal(made('backupTarget', directory), directory)
    t.equal(resealer('object', { from, to }), null)
  })

  t.test('ends the work where a secret does not open', async (t) => {
    const strange = MasterKey.fromBytes('mk-strange', randomBytes(32))
    const row = { hookId: 'h', secret: strange.seal(secret, hookSecret('h')) }
    t.throws(() => made('hook', row), TargetRefused)
  })
})
