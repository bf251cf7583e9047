export { startReading } from './reading';
export { startUploading } from './uploading';
