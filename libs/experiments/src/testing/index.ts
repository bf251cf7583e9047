export * from './reading';
export * from './uploading';
