/** The judgement of the doctor on directories for blobs: each is there, and on a disk of its own. */
import t from 'tap'
import { checkBlobDirectories } from '../../src/doctor/disk-checks.ts'
import type { Finding } from '../../src/doctor/finding.ts'

const texts = (findings: readonly Finding[]) => findings.map(({ severity, found }) => `${severity}: ${found}`)

t.test('directories of blobs', async (t) => {
  const of = (devices: readonly (readonly [path: string, device: number])[]) =>
    texts(
      checkBlobDirectories(
        '/data',
        ['/d1', '/d2'],
        devices.map(([path, device]) => ({ path, device })),
      ),
    )
  t.match(
    of([
      ['/data', 1],
      ['/d1', 2],
      ['/d2', 3],
    ]),
    [/^ok: 2 directories/],
  )
  t.match(
    of([
      ['/data', 1],
      ['/d1', 2],
      ['/d2', 2],
    ]),
    [/^warning: .*\/d2 and \/d1 are on one file system/],
  )
  t.match(
    of([
      ['/data', 1],
      ['/d1', 1],
      ['/d2', 2],
    ]),
    [/^warning: .*\/d1 and \/data/],
  )
  t.match(
    of([
      ['/data', 1],
      ['/d2', 2],
    ]),
    [/^error: .*\/d1 does not exist/],
  )
  t.match(texts(checkBlobDirectories('/data', [], [])), [/^ok: .*data directory/])
})
