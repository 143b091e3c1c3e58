/**
 * `holdfast openapi`: the documents without a node, and its exit codes.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../helpers/run-command.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const committed = (api: string): string =>
  readFileSync(new URL(`../../docs/openapi/${api}.json`, import.meta.url), 'utf8')

t.test('prints the document that the servers serve', async (t) => {
  for (const api of ['data', 'admin']) {
    t.same(await runCommand('openapi', api), { code: 0, out: committed(api), err: '' })
    const { out } = await runCommand('openapi', api, '--json')
    t.equal(out.trim().split('\n').length, 1)
    t.same(JSON.parse(out), JSON.parse(committed(api)))
  }
})

t.test('writes it into a file', async (t) => {
  const file = join(temporaryFolder(t), 'admin.json')
  t.match(await runCommand('openapi', 'admin', '--out', file), { code: 0, out: '', err: file })
  t.equal(readFileSync(file, 'utf8'), committed('admin'))
  t.same(JSON.parse((await runCommand('openapi', 'data', '--out', file, '--json')).out), {
    api: 'data',
    file,
  })
  t.equal(readFileSync(file, 'utf8'), committed('data'), 'a file is replaced')
  t.ok(statSync(file).isFile())
})

t.test('ends with 2 for another name, and with 1 for a file that cannot be written', async (t) => {
  t.match(await runCommand('openapi', 'peer'), { code: 2, out: '', err: /data, admin/ })
  t.match(await runCommand('openapi'), { code: 2, out: '' })
  const nowhere = join(temporaryFolder(t), 'none', 'file.json')
  t.match(await runCommand('openapi', 'data', '--out', nowhere), { code: 1, out: '', err: nowhere })
})
