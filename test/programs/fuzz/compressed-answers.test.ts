/** Answers that a request had compressed are judged as what they say, and what does not unpack is a fault and ends no run. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ApiDocument } from '../../helpers/api-document.ts'

t.test('a compressed answer is unpacked before it is judged', async (t) => {
  const document = new ApiDocument('data')
  const operation = document.operation('healthz')
  const answer = { status: 200, contentType: 'application/json', contentEncoding: 'gzip' }
  const bytes = gzipSync('{"status":"ok"}')
  t.equal(document.faultOf(operation, { ...answer, bytes }), null)
  t.match(
    document.faultOf(operation, { ...answer, bytes: Buffer.from('{}') }),
    /no JSON in the encoding "gzip"/,
  )
  t.match(document.faultOf(operation, { ...answer, contentEncoding: undefined, bytes }), /no JSON/)
})
