/**
 * The choice of tests and the published page of `npm run s3-conformance`; the suite itself is not here.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { type CollectedTest, exclusionOf } from './exclusions.ts'
import { EXPLANATIONS } from './explanations.ts'
import { conformancePage } from './report.ts'

const collected = (name: string, ...marks: readonly string[]): CollectedTest => ({
  name,
  file: 's3tests/functional/test_s3.py',
  marks,
})

t.test('a test is out of scope by its subject and never by its result', async (t) => {
  const subject = (name: string, ...marks: readonly string[]) =>
    exclusionOf(collected(name, ...marks))?.subject
  t.equal(subject('test_bucket_logging_owner', 'bucket_logging'), 'logging')
  t.equal(subject('test_object_acl_canned'), 'ACL grants')
  t.equal(subject('test_object_raw_get'), 'public access')
  t.equal(subject('test_sse_kms_present', 'encryption'), 'KMS')
  for (const name of [
    'test_bucket_acl_default',
    'test_put_public_block',
    'test_copy_enc[sse-s3-sse-s3-STANDARD-STANDARD-1]',
    'test_copy_enc[sse-s3-sse-c-STANDARD-STANDARD-1]',
    'test_encryption_sse_c_present',
    'test_sse_s3_default_upload_1b',
    'test_object_raw_get_x_amz_expires_not_expired',
    'test_lifecycle_set',
  ])
    t.equal(subject(name), undefined, `${name} is in scope`)
})

t.test('the page counts, explains, and says what is not explained', async (t) => {
  const page = conformancePage({
    suite: 'abc',
    version: '1',
    collected: [collected('test_a'), collected('test_b'), collected('test_bucket_logging_x')],
    outcomes: [
      { name: 'test_a', outcome: 'passed', why: '', seconds: 1 },
      { name: 'test_b', outcome: 'failed', why: 'expected | this\nand that', seconds: 1 },
    ],
  })
  t.match(page, '**1 of the 2 tests in scope that run pass (50.0 %).** 1 fail, 1 of them unexplained.')
  t.match(page, 'Of all 3 tests, 1 are out of scope, and the suite itself skips 0.')
  t.match(page, '| 1 | **not explained yet**: expected \\| this and that | `test_b` |')
  t.match(page, /\| logging \| 1 \|/)
})

t.test('every explanation is a sentence', async (t) => {
  for (const { reason } of EXPLANATIONS) t.match(reason, /^[A-Z`].{20,}\.$/)
})

t.test('where the suite is absent the run is skipped and says what to do', async (t) => {
  const main = join(import.meta.dirname, 'main.ts')
  const { status, stdout } = spawnSync(process.execPath, [main, '--suite', '/nowhere'], { encoding: 'utf8' })
  t.equal(status, 0)
  t.match(stdout, /^skipped: there is no suite in '\/nowhere': clone https:\/\/github\.com\/ceph\/s3-tests/)
})
