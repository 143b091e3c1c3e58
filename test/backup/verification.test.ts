/** What a verification finds, and what it does not call damaged. [docs/adr/0095-parts-of-backups.md] */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backupFolder } from '../../src/backup/format/names.ts'
import { verifyBackup } from '../../src/backup/read/verification.ts'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { BACKUP_ID, CLUSTER, makeSealedBackup, readerOf, type SealedBackup } from './sealed-backups.ts'

async function verified(
  t: { testdir(): string },
  backup: SealedBackup,
  harm?: (folder: string, names: Readonly<Record<string, string>>) => void,
) {
  const folder = t.testdir()
  const target = new DirectoryTarget(folder)
  const names = await makeSealedBackup(target, backup)
  harm?.(folder, names)
  const found = await verifyBackup(await readerOf(target), testMasterKey)
  const damages = found.damages.map(({ name, what, why }) => ({
    what,
    why,
    of: Object.keys(names).find((key) => names[key] === name) ?? name,
  }))
  return { ...found, damages }
}

const flip = (file: string): void => {
  const bytes = readFileSync(file)
  bytes[10] = (bytes[10] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

t.test('a verification', async (t) => {
  t.test(
    'opens what the present key seals, and what the former key of an unfinished exchange does',
    async (t) => {
      const objects = { now: 2, before: 1, other: 2 } as const
      t.match(await verified(t, { objects, small: [1, 2] }), { chunks: 3, damageCount: 0, damages: [] })
    },
  )

  t.test('compares the bytes of what only a client opens', async (t) => {
    t.match(await verified(t, { objects: { own: 2, client: 0 } }), { chunks: 2, damageCount: 0 })
    const { damages } = await verified(t, { objects: { own: 2, client: 0 } }, (folder, names) =>
      flip(join(folder, names['client'] ?? '')),
    )
    t.match(damages, [{ of: 'client', what: 'damaged' }])
    t.equal(damages.length, 1)
  })

  t.test('names what is sealed with a key that the tenant does not hold', async (t) => {
    const { damages } = await verified(t, { objects: { now: 2, strange: 3 } })
    t.match(damages, [{ of: 'strange', what: 'unreadable' }])
    t.equal(damages.length, 1)
  })

  t.test('names small bodies whose key no row holds, which were taken for whole', async (t) => {
    const { damages } = await verified(t, { objects: { now: 2 }, small: [2, 3, 3] })
    t.match(damages, [
      { of: 'state, bucket b1', what: 'unreadable', why: /^2 small bodies of tenant "acme".*version 3/ },
    ])
    t.equal(damages.length, 1)
  })

  t.test('does not call every chunk unreadable where a file of rows is damaged', async (t) => {
    const { damages, chunks } = await verified(t, { objects: { a: 2, b: 1, c: 2 } }, (folder, names) => {
      flip(join(folder, backupFolder(CLUSTER, BACKUP_ID), 'a', 'state-000000'))
      rmSync(join(folder, names['b'] ?? ''))
    })
    t.strictSame(damages.map(({ of, what }) => `${of} ${what}`).toSorted(), ['b missing', 'state damaged'])
    t.equal(chunks, 2)
  })
})
