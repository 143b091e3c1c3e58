/** Where the running node puts copies: judgements of its place and its disks. */
import t from 'tap'
import type { Finding } from '../../src/doctor/finding.ts'
import { checkPlacement } from '../../src/doctor/placement-checks.ts'

const texts = (findings: Finding | readonly Finding[]): readonly string[] =>
  [findings].flat().map(({ severity, found }) => `${severity}: ${found}`)

t.test('checkPlacement: what the cluster holds over the file, and disks that are out or doubted', (t) => {
  const file = { zone: 'rack-1', weight: 1 }
  const size = { totalBytes: 1, freeBytes: 1, level: 'open' } as const
  const disk = { directory: '/mnt/disk1', diskId: 'a', status: 'serving', ...size } as const
  const placed = (place: typeof file, disks: readonly object[] | null) =>
    texts(checkPlacement({ place: { ...place, file }, disks: disks as null }))
  t.same(texts(checkPlacement(null)), [])
  t.same(texts(checkPlacement({ place: null, disks: null })), [])
  t.match(placed(file, []), [/^ok: .*zone rack-1 with weight 1/])
  t.match(placed({ zone: 'rack-1', weight: 2 }, null), [/^warning: .*weight 2/])
  t.match(placed(file, [disk, disk]), [/^ok/, /^ok: 2 disks/])
  t.match(placed(file, [disk, { ...disk, status: 'absent' }]), [/^ok/, /^error: .*is absent/])
  t.match(placed(file, [{ ...disk, doubt: 'errors' }]), [/^ok/, /^warning: .*returned errors/])
  t.match(placed(file, [{ ...disk, doubt: 'slow_flushes' }]), [/^ok/, /^warning: .*flush/])
  t.match(placed(file, [{ ...disk, doubt: 'errors', status: 'draining' }]), [/^ok/, /^ok/])
  t.end()
})
