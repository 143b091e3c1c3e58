/**
 * What requests and answers of the S3 API say of encryption. [AWS S3 API reference: SSE-S3, SSE-C]
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import {
  type CustomerKey,
  customerKeyAnswer,
  type CustomerKeyNames,
  customerKeyNames,
  readCustomerKey,
} from '../../customer-key-headers.ts'
import { S3Fault } from './s3-errors.ts'

const BY_SERVER = 'x-amz-server-side-encryption'
const OF_OBJECT: CustomerKeyNames = customerKeyNames(`${BY_SERVER}-customer`)
const OF_SOURCE: CustomerKeyNames = customerKeyNames('x-amz-copy-source-server-side-encryption-customer')

/** For the table of routes. */
export const CUSTOMER_KEY: readonly string[] = Object.values(OF_OBJECT)
export const SOURCE_CUSTOMER_KEY: readonly string[] = Object.values(OF_SOURCE)

type Caller = Pick<AccessKeyPrincipal, 'circumstances'>

/** Undefined: the request brings none. Throws S3Fault, Refusal. */
export function readS3Key(headers: IncomingHttpHeaders, { circumstances }: Caller): CustomerKey | undefined {
  const customer = readCustomerKey(headers, OF_OBJECT, circumstances)
  if (customer !== undefined && headers[BY_SERVER] !== undefined)
    throw new S3Fault(
      'InvalidArgument',
      `${BY_SERVER} and a key of the client exclude each other: send one of them`,
    )
  return customer
}

/** Of the source of a copy. */
export function readS3SourceKey(
  headers: IncomingHttpHeaders,
  { circumstances }: Caller,
): CustomerKey | undefined {
  return readCustomerKey(headers, OF_SOURCE, circumstances)
}

/** `customer`: that the request brought, and that was found to be the right one. */
export function encryptionHeaders(customer: CustomerKey | undefined): Record<string, string> {
  return customer === undefined ? { [BY_SERVER]: 'AES256' } : customerKeyAnswer(OF_OBJECT, customer)
}
