/**
 * The etags of objects that are assembled: S3's where all parts have an MD5, otherwise native ones.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { etagOfParts } from '../../src/content/etag.ts'
import { md5Of, tagOfParts } from '../operations/s3-upload-world.ts'

t.test('etagOfParts', async (t) => {
  const [one, two] = [md5Of(Buffer.from('one')).toString('hex'), md5Of(Buffer.from('two')).toString('hex')]
  t.equal(etagOfParts([one, two]), tagOfParts([Buffer.from('one'), Buffer.from('two')]))
  t.equal(etagOfParts([one]), tagOfParts([Buffer.from('one')]))
  t.not(etagOfParts([one, two]), etagOfParts([two, one]))
  const raw = [one, two].map((tag) => Buffer.from(tag, 'hex'))
  const native = `${createHash('sha256').update(Buffer.concat(raw)).digest('hex').slice(0, 32)}-2`
  for (const mixed of [
    [`${one}-1`, two],
    [one, `${two}-1`],
    [`${one}-1`, `${two}-1`],
  ])
    t.equal(etagOfParts(mixed), native, 'one tag that is no MD5 makes the whole native')
})
