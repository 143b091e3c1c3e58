/**
 * The beginning of signed URLs: an address without a part that would end up in the middle of a URL.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/load-config.ts'

const REST = `
node: { id: n1, data_dir: data }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }
`

async function load(t: Test, url?: string): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  await writeFile(file, REST)
  return loadConfig(file, { HOLDFAST_LISTENERS__PUBLIC_URL: url }).listeners.publicUrl
}

t.test('listeners.public_url', async (t) => {
  t.equal(await load(t), null, 'need not be given')
  for (const url of ['https://files.example.org', 'http://127.0.0.1:9000', 'https://[::1]:9000/a/b'])
    t.equal(await load(t, url), url)
  const wrong = [
    '',
    'files.example.org',
    'ftp://x',
    'https://',
    'https://x/',
    'https://x/a/',
    'https://x?a=b',
  ]
  for (const url of [...wrong, 'https://x#a', 'https://x/a?b', 'https://a:b@x', 'https://x y', 'https://x\n'])
    await t.rejects(load(t, url), { name: 'StartError', code: 'invalid_config' }, JSON.stringify(url))
})
