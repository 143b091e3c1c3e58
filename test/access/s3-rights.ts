/**
 * Who may call each operation that only the S3 API has, written manually from the contract.
 */
export type S3Right = 'read' | 'write' | 'write, whole bucket' | 'admin, whole bucket'

export const S3_RIGHTS: Readonly<Record<string, S3Right>> = {
  uploadPartCopy: 'write',
  getObjectParts: 'read',
  getBucketTags: 'read',
  setBucketTags: 'write, whole bucket',
  deleteBucketTags: 'write, whole bucket',
  getBucketPolicy: 'admin, whole bucket',
  getBucketPolicyStatus: 'admin, whole bucket',
  setBucketPolicy: 'admin, whole bucket',
  deleteBucketPolicy: 'admin, whole bucket',
  getBucketLocation: 'read',
  getBucketEncryption: 'read',
  confirmBucketEncryption: 'write, whole bucket',
  getPublicAccessBlock: 'read',
  confirmPublicAccessBlock: 'write, whole bucket',
  getBucketOwnership: 'read',
  confirmBucketOwnership: 'write, whole bucket',
  getBucketAcl: 'read',
  confirmBucketAcl: 'write, whole bucket',
  getBucketPayer: 'read',
  getObjectAcl: 'read',
  confirmObjectAcl: 'write',
}
