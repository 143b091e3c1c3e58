/**
 * What another store refuses, and what to do about it. [AWS S3 API reference: Error responses]
 *
 * Owns: the explanation of each code, and which of them no other request of the command will escape. Rules: stores differ in their texts, so
 * codes and statuses decide; the text of the store is quoted, bounded and without control characters.
 */
import { type ErrorDocument, errorDocument, s3CodeOf } from '../../s3-client/error-document.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { printable } from '../base/printing.ts'

export interface Refused {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** At most ERROR_BYTES_MAX of it. */
  readonly body: Uint8Array
  /** What was asked, such as `GetObject photos/a`. */
  readonly action: string
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly at: number
}

const TEXT_MAX = 200

export class SourceError extends CommandError {
  readonly status: number
  /** The code of S3; without one in the answer, made of the status. */
  readonly s3Code: string
  /** Every other request would be refused too. */
  readonly isFinal: boolean
  readonly headers: Refused['headers']

  constructor(
    message: string,
    about: {
      readonly refused: Refused
      readonly s3Code: string
      readonly hint: string
      readonly isFinal: boolean
    },
  ) {
    const { refused, s3Code, hint, isFinal } = about
    super(message, {
      code: 'source_refused',
      hint,
      requestId: refused.headers['x-amz-request-id'] ?? null,
      exitCode: EXIT.failed,
    })
    this.name = 'SourceError'
    this.status = refused.status
    this.s3Code = s3Code
    this.isFinal = isFinal
    this.headers = refused.headers
  }
}

interface Explained {
  readonly says: string
  readonly hint: string
  readonly isFinal: boolean
}

export async function sourceErrorOf(refused: Refused): Promise<SourceError> {
  const document = await errorDocument(refused.body)
  const s3Code = s3CodeOf(document, refused.status)
  const { says, hint, isFinal } = explained(s3Code, document, refused)
  const text = document.message === null ? '' : `: ${printable(document.message.slice(0, TEXT_MAX))}`
  const shown = printable(s3Code.slice(0, TEXT_MAX))
  const message = `${says} (${refused.action} was answered ${refused.status} ${shown}${text})`
  return new SourceError(message, { refused, s3Code, hint, isFinal })
}

const ELSEWHERE: readonly string[] = ['PermanentRedirect', 'TemporaryRedirect', 'Redirect']

function explained(s3Code: string, document: ErrorDocument, refused: Refused): Explained {
  const region = refused.headers['x-amz-bucket-region'] ?? document.region
  const isElsewhere =
    ELSEWHERE.includes(s3Code) || (s3Code === 'AuthorizationHeaderMalformed' && region !== null)
  if (isElsewhere) return elsewhere(region, document.endpoint)
  if (s3Code === 'RequestTimeTooSkewed') return skewed(refused)
  const known = EXPLANATIONS[s3Code]
  if (known !== undefined) return known
  const hint =
    refused.status >= 500
      ? 'The source has a fault; try again later.'
      : 'See the documentation of the source for this code.'
  return { says: 'The source refuses the request', hint, isFinal: false }
}

function elsewhere(region: string | null, endpoint: string | null): Explained {
  const at = endpoint === null ? '' : `, at ${printable(endpoint)}`
  if (region === null)
    return {
      says: `The bucket is in another place of the source${at}`,
      hint: 'Name the region of the bucket with --region, and the address of that region with --endpoint.',
      isFinal: true,
    }
  const name = printable(region)
  return {
    says: `The bucket is in the region ${name}${at}`,
    hint: `Add --region ${name}, and name the address of that region with --endpoint.`,
    isFinal: true,
  }
}

function skewed({ headers, at }: Refused): Explained {
  const theirs = Date.parse(headers['date'] ?? '')
  const seconds = Math.round(Math.abs(at - theirs) / 1000)
  const differ = Number.isNaN(theirs) ? '' : `: they differ by ${seconds} seconds`
  return {
    says: `The clocks of this machine and of the source do not agree${differ}`,
    hint: 'Set the clock of this machine, with NTP for example; signatures are good for 15 minutes.',
    isFinal: true,
  }
}

const RIGHTS =
  'Its key needs s3:ListBucket, s3:GetObject and s3:GetObjectTagging (s3:ListAllMyBuckets for --all); tags are left out with --no-tags.'
const NEW_CREDENTIALS = 'Get new credentials; the same command continues with the rest.'

const EXPLANATIONS: Readonly<Record<string, Explained>> = {
  SignatureDoesNotMatch: {
    says: 'The source does not accept the signature',
    hint: 'The secret of the key is wrong, or a proxy changes the host or the path: use the address by which the store knows itself.',
    isFinal: true,
  },
  InvalidAccessKeyId: {
    says: 'The source does not know the access key',
    hint: 'Check AWS_ACCESS_KEY_ID or the file of --source-key-file, and --endpoint.',
    isFinal: true,
  },
  ExpiredToken: { says: 'The credentials of the source have expired', hint: NEW_CREDENTIALS, isFinal: true },
  InvalidToken: {
    says: 'The source does not accept the session token',
    hint: NEW_CREDENTIALS,
    isFinal: true,
  },
  TokenRefreshRequired: {
    says: 'The credentials of the source have expired',
    hint: NEW_CREDENTIALS,
    isFinal: true,
  },
  AuthorizationHeaderMalformed: {
    says: 'The source does not accept the scope of the signature',
    hint: 'Name the region of the source with --region.',
    isFinal: true,
  },
  AccessDenied: { says: 'The key of the source may not do this', hint: RIGHTS, isFinal: false },
  AllAccessDisabled: { says: 'The key of the source may not do this', hint: RIGHTS, isFinal: false },
  NoSuchBucket: {
    says: 'The source has no such bucket',
    hint: 'Check the name, and whether the store wants it in the name of the host: --virtual-host.',
    isFinal: false,
  },
  InvalidObjectState: {
    says: 'The object is in an archive',
    hint: 'Restore it at the source first; the same command then copies it.',
    isFinal: false,
  },
  PreconditionFailed: {
    says: 'The object changed while it was copied',
    hint: 'The same command copies it as it is now.',
    isFinal: false,
  },
}
