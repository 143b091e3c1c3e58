/**
 * The S3 API beside the native one on the data listener.
 */
import type { Config } from '../../config/types.ts'
import { dataPlane } from '../native/routes.ts'
import type { CompatibilityApi } from '../plane.ts'
import { s3ErrorAnswer } from './entry/error-answer.ts'
import { s3Table } from './routes.ts'
import { isPresigned } from './entry/s3-proof.ts'
import { isS3Request, type S3Places } from './entry/s3-target.ts'
import { serveS3 } from './entry/serve-s3.ts'

/** First parts of the paths that the native API has. */
export const NATIVE_NAMES: ReadonlySet<string> = new Set([
  'api',
  ...dataPlane.routes
    .filter(({ mountedAt = 'prefix' }) => mountedAt !== 'prefix')
    .map(({ path }) => path.split('/')[1] ?? ''),
])

const placesOf = ({ listeners }: Pick<Config, 'listeners'>): S3Places => ({
  domains: listeners.s3Domains,
  nativeNames: NATIVE_NAMES,
})

export const s3Api: CompatibilityApi = {
  api: 's3',
  isMeant: (config, target, host) => isS3Request(target, host, placesOf(config)),
  isLink: isPresigned,
  serve: (services, gate) =>
    serveS3(services, { table: s3Table, placesOf, errorAnswer: s3ErrorAnswer }, gate),
  errorAnswer: s3ErrorAnswer,
}
