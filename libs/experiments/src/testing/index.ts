export * from './filling';
export * from './reading';
export * from './uploading';
export * from './zstd';
