/**
 * The thresholds of disk usage in the configuration: percentages, in their order.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assertThresholds, DISK_THRESHOLDS } from '../../cluster/base/disk-level.ts'
import { type Environment, loadConfig } from '../../src/config/load-config.ts'
import { parsePercent } from '../../src/config/parse-value.ts'

const REST = `
node: { id: n1, data_dir: data }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }
`

async function load(t: Test, disk = '', environment: Environment = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  await writeFile(file, REST + disk)
  return loadConfig(file, environment).disk
}

t.test('the settings of a disk', async (t) => {
  t.test('are those of the blob store by default', async (t) => {
    t.strictSame(await load(t), DISK_THRESHOLDS)
  })

  t.test('are percentages, in the file or the environment, and may be equal', async (t) => {
    const disk = 'disk: { stop_placing: 70%, stop_writing: 92.5% }'
    const given = await load(t, disk, { HOLDFAST_DISK__RESERVE: '92.5%' })
    t.match(given, {
      stopPlacing: { usedShare: 0.7 },
      stopWriting: { usedShare: 0.925 },
      reserve: { usedShare: 0.925 },
    })
    t.doesNotThrow(() => assertThresholds(given))
  })

  t.test('have a number of free bytes beside each percentage', async (t) => {
    const disk = 'disk: { stop_placing_free: 3GiB, stop_writing_free: 2GiB }'
    const given = await load(t, disk, { HOLDFAST_DISK__RESERVE_FREE: '64MiB' })
    t.match(given, {
      stopPlacing: { freeBytes: 3 * 1024 ** 3 },
      stopWriting: { freeBytes: 2 * 1024 ** 3 },
      reserve: { freeBytes: 64 * 1024 ** 2 },
    })
    t.doesNotThrow(() => assertThresholds(given))
    await t.rejects(load(t, 'disk: { stop_placing_free: 29GiB }'), {
      code: 'invalid_config',
      message:
        /disk\.stop_placing_free \(31138512896 bytes\) is less than disk\.stop_writing_free \(32212254720 bytes\)$/,
      hint: /must not rise in this order: disk\.stop_placing_free, disk\.stop_writing_free, disk\.reserve_free/,
    })
    await t.rejects(load(t, 'disk: { reserve_free: 63MiB }'), { message: /disk\.reserve_free/ })
  })

  t.test('refuse the start when they are out of order, and name the settings', async (t) => {
    for (const [disk, message] of [
      ['{ stop_placing: 93% }', 'disk.stop_placing (93%) is above disk.stop_writing (92%)'],
      [
        '{ reserve: 57.3%, stop_placing: 1%, stop_writing: 58% }',
        'disk.stop_writing (58%) is above disk.reserve (57.3%)',
      ],
      ['{ stop_writing: 96% }', 'disk.stop_writing (96%) is above disk.reserve (95%)'],
    ] as const) {
      const hint = /in this order: disk.stop_placing, disk.stop_writing, disk.reserve/
      await t.rejects(load(t, `disk: ${disk}`), {
        name: 'StartError',
        code: 'invalid_config',
        message: new RegExp(`node.yaml: ${message.replace(/[().]/g, '\\$&')}$`),
        hint,
      })
    }
  })

  t.test('refuse values that are not percentages or are out of bounds', async (t) => {
    for (const text of ['0.85', '85', '85 percent', '-1%', '1e2%', '%', ''])
      t.throws(() => parsePercent(text), {
        message: `expected a percentage such as 85% or 92.5%, got '${text}'`,
      })
    for (const text of ['0%', '101%', '85'])
      await t.rejects(load(t, `disk: { reserve: ${text} }`), {
        code: 'invalid_config',
        message: /disk\.reserve/,
      })
  })
})
